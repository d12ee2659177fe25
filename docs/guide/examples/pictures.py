from warmwire.img2dataset import download

if __name__ == "__main__":  # its workers import this program
    download("urls.txt", output_folder="pictures", processes_count=4, deadline=30)
